//! Who gets an answer: only pages of this server, on this machine, that know the secret.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another host was named: a name that somebody else made point here.
    Host,
    /// Another page asks.
    Origin,
    /// The secret is missing or wrong.
    Token,
}

impl Refusal {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Host => "this server answers to 127.0.0.1 and localhost only",
            Self::Origin => "other pages get no answer from this server",
            Self::Token => {
                "open the whole address that toile printed, with the letters after the last slash"
            }
        }
    }
}

/// The secret and the port of a server.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: [String; 2],
}

impl Guard {
    pub(crate) fn new(token: String, port: u16) -> Self {
        Self { token, hosts: ["127.0.0.1", "localhost"].map(|h| format!("{h}:{port}")) }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The path below the secret, if the request may be answered.
    pub(crate) fn admit<'a>(&self, headers: &HeaderMap, path: &'a str) -> Result<&'a str, Refusal> {
        let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
        if !text(HOST).is_some_and(|host| self.hosts.iter().any(|h| h == host)) {
            return Err(Refusal::Host);
        }
        if let Some(origin) = text(ORIGIN) {
            let own =
                origin.strip_prefix("http://").is_some_and(|o| self.hosts.iter().any(|h| h == o));
            if !own {
                return Err(Refusal::Origin);
            }
        }
        let rest = path.strip_prefix('/').unwrap_or(path);
        let (token, rest) = rest.split_once('/').unwrap_or((rest, ""));
        if same(token, &self.token) { Ok(rest) } else { Err(Refusal::Token) }
    }
}

/// Compares in a time that does not tell how much is right.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(axum::http::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.clone(), v.parse().unwrap())).collect()
    }

    #[test]
    fn only_own_pages_with_the_secret_are_admitted() {
        let guard = Guard::new("s3cret".into(), 4000);
        let own = headers(&[(HOST, "127.0.0.1:4000")]);
        assert_eq!(guard.admit(&own, "/s3cret/api/index"), Ok("api/index"));
        assert_eq!(guard.admit(&own, "/s3cret/"), Ok(""));
        for path in ["/", "/s3cre/x", "/s3cret0/x", "/api/index", "//s3cret/"] {
            assert_eq!(guard.admit(&own, path), Err(Refusal::Token), "{path}");
        }
        let named = headers(&[(HOST, "evil.example:4000")]);
        assert_eq!(guard.admit(&named, "/s3cret/"), Err(Refusal::Host));
        assert_eq!(guard.admit(&HeaderMap::new(), "/s3cret/"), Err(Refusal::Host));
        let port = headers(&[(HOST, "127.0.0.1:4001")]);
        assert_eq!(guard.admit(&port, "/s3cret/"), Err(Refusal::Host));
        let with = |origin| headers(&[(HOST, "localhost:4000"), (ORIGIN, origin)]);
        assert!(guard.admit(&with("http://localhost:4000"), "/s3cret/").is_ok());
        for origin in
            ["http://evil.example", "null", "https://127.0.0.1:4000", "http://127.0.0.1:1"]
        {
            assert_eq!(guard.admit(&with(origin), "/s3cret/"), Err(Refusal::Origin), "{origin}");
        }
    }
}
