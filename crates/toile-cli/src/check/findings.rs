//! Findings in numbered sections.

use std::fmt::Write;

use serde_json::{Value, json};
use toile::geometry::Severity;

/// One part of a report.
struct Section {
    title: String,
    facts: Vec<String>,
    findings: Vec<(Severity, String)>,
}

/// Everything found, in sections.
#[derive(Default)]
pub(super) struct Report {
    sections: Vec<Section>,
}

impl Report {
    pub(super) fn section(&mut self, title: String) {
        self.sections.push(Section { title, facts: Vec::new(), findings: Vec::new() });
    }

    fn last(&mut self) -> &mut Section {
        if self.sections.is_empty() {
            self.section(String::new());
        }
        let at = self.sections.len() - 1;
        &mut self.sections[at]
    }

    pub(super) fn fact(&mut self, text: String) {
        self.last().facts.push(text);
    }

    pub(super) fn add(&mut self, severity: Severity, text: String) {
        self.last().findings.push((severity, text));
    }

    pub(super) fn note(&mut self, text: String) {
        self.add(Severity::Note, text);
    }

    pub(super) fn warning(&mut self, text: String) {
        self.add(Severity::Warning, text);
    }

    pub(super) fn error(&mut self, text: String) {
        self.add(Severity::Error, text);
    }

    pub(super) fn worst(&self) -> Option<Severity> {
        self.sections.iter().flat_map(|s| &s.findings).map(|(severity, _)| *severity).max()
    }

    fn count(&self, severity: Severity) -> usize {
        self.sections.iter().flat_map(|s| &s.findings).filter(|(s, _)| *s == severity).count()
    }

    /// One line that sums up.
    pub(super) fn verdict(&self) -> String {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        match (errors, warnings) {
            (0, 0) => "in order".into(),
            (0, w) => {
                format!("{w} warning(s): it can be computed, look whether it is what you mean")
            }
            (e, w) => format!("{e} error(s), {w} warning(s): it cannot be computed like this"),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (i, section) in self.sections.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", i + 1, section.title);
            for fact in &section.facts {
                let _ = writeln!(text, "   {fact}");
            }
            for (severity, finding) in &section.findings {
                // Scene errors show the line they mean; keep its columns together.
                let finding = finding.replace('\n', "\n     ");
                let _ = writeln!(text, "   {severity}: {finding}");
            }
        }
        let _ = write!(text, "{}", self.verdict());
        text
    }

    pub(super) fn json(&self) -> Value {
        let worst = self.worst().map_or("ok".to_string(), |s| s.to_string());
        let sections: Vec<Value> = self
            .sections
            .iter()
            .map(|s| {
                let findings: Vec<Value> = s
                    .findings
                    .iter()
                    .map(|(severity, text)| json!({ "severity": severity.to_string(), "text": text }))
                    .collect();
                json!({ "title": s.title, "facts": s.facts, "findings": findings })
            })
            .collect();
        json!({ "severity": worst, "verdict": self.verdict(), "sections": sections })
    }
}
