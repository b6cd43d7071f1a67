//! Opening an address in the browser of the user.

use std::process::{Command, Stdio};

/// Opens an address or a file; `false` if no way to do so was found. Does not wait for it.
pub fn open_in_browser(address: &str) -> bool {
    let ways: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(target_os = "windows") {
        &[&["rundll32", "url.dll,FileProtocolHandler"]]
    } else {
        // Without a screen these would wait for somebody who cannot come.
        let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some());
        if screen { &[&["xdg-open"], &["gio", "open"], &["sensible-browser"]] } else { &[] }
    };
    ways.iter().any(|way| {
        Command::new(way[0])
            .args(&way[1..])
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
    })
}
