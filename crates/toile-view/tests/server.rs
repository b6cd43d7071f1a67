//! The server as another program sees it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use toile_view::{Folder, Memory, Server};

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

/// Host and path of an address.
fn split(address: &str) -> (String, String) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    (host.into(), format!("/{path}"))
}

fn ask(server: &Server, method: &str, path: &str, headers: &str) -> Answer {
    let (host, _) = split(server.address());
    raw(
        &host,
        &format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"),
    )
}

fn raw(host: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let at = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: bytes[at + 4..].to_vec() }
}

fn memory() -> (Memory, Server, String) {
    let memory = Memory::default();
    memory.set_index("{\"a\": 1}");
    memory.set_array("x.bin", &[1, 2, 3]);
    let server = Server::start(memory.clone()).unwrap();
    let root = split(server.address()).1;
    (memory, server, root)
}

#[test]
fn the_record_is_given_to_those_who_know_the_address() {
    let (_memory, server, root) = memory();
    assert!(server.address().starts_with("http://127.0.0.1:"));
    assert!(root.len() > 30, "a secret that cannot be guessed: {root}");
    let index = ask(&server, "GET", &format!("{root}api/index"), "");
    assert_eq!((index.status, index.body.as_slice()), (200, b"{\"a\": 1}".as_slice()));
    assert!(index.head.contains("application/json") && index.head.contains("no-store"));
    assert!(index.head.contains("frame-ancestors 'none'"));
    assert!(!index.head.contains("access-control-allow-origin"));
    let array = ask(&server, "GET", &format!("{root}api/array/x.bin"), "");
    assert_eq!((array.status, array.body.as_slice()), (200, [1, 2, 3].as_slice()));
    assert_eq!(ask(&server, "GET", &format!("{root}api/array/y.bin"), "").status, 404);
    let other = Server::start(Memory::default()).unwrap();
    assert_ne!(split(other.address()).1, root, "each has a secret of its own");
}

#[test]
fn nobody_else_gets_an_answer() {
    let (_memory, server, root) = memory();
    let host = split(server.address()).0;
    let refused = |answer: Answer| {
        assert_eq!(answer.status, 403);
        assert!(!answer.body.windows(3).any(|w| w == b"\"a\""), "nothing leaks");
    };
    refused(ask(&server, "GET", "/", ""));
    refused(ask(&server, "GET", "/api/index", ""));
    let wrong = format!("/{}/api/index", "0".repeat(root.len() - 2));
    refused(ask(&server, "GET", &wrong, ""));
    refused(ask(&server, "GET", &format!("{root}api/index"), "Origin: http://evil.example\r\n"));
    refused(ask(&server, "POST", &format!("{root}api/stop"), "Origin: null\r\n"));
    assert!(!server.stop_asked());
    let named = |name: &str| {
        raw(
            &host,
            &format!("GET {root}api/index HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"),
        )
    };
    refused(named("evil.example"));
    refused(named("127.0.0.1:1"));
    assert_eq!(named(&host.replace("127.0.0.1", "localhost")).status, 200);
}

#[test]
fn nothing_outside_the_record_can_be_read() {
    let folder = std::env::temp_dir().join(format!("toile-view-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("r/view")).unwrap();
    std::fs::write(folder.join("secret.bin"), "no").unwrap();
    std::fs::write(folder.join("r/secret.bin"), "no").unwrap();
    std::fs::write(folder.join("r/view/x.bin"), "yes").unwrap();
    let server = Server::start(Folder::new(folder.join("r"))).unwrap();
    let root = split(server.address()).1;
    let get = |path: &str| ask(&server, "GET", &format!("{root}{path}"), "");
    assert_eq!(get("api/array/x.bin").body, b"yes");
    for path in [
        "api/array/../secret.bin",
        "api/array/..%2fsecret.bin",
        "api/array/%2e%2e/secret.bin",
        "api/array/../../secret.bin",
        "api/array//etc/passwd",
        "api/array/x.bin%00",
        "api/array/",
        "../secret.bin",
        "..%2f..%2fsecret.bin",
        "view/x.bin",
    ] {
        let answer = get(path);
        assert!(answer.status >= 400, "{path}: {}", answer.status);
        assert_ne!(answer.body, b"no", "{path}");
    }
    assert_eq!(get("api/index").status, 404, "no record yet");
    assert_eq!(get("report.html").status, 404);
    assert_eq!(get("api/about").body, b"{\"report\": false}");
    std::fs::write(folder.join("r/report.html"), "<p>r</p>").unwrap();
    let report = get("report.html");
    assert_eq!(get("api/about").body, b"{\"report\": true}");
    assert!(report.status == 200 && report.head.contains("default-src 'none'; img-src data:"));
    drop(server);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn news_and_stop_pass_between_page_and_command() {
    let (_memory, server, root) = memory();
    let wait = |revision: &str| {
        let answer = ask(&server, "GET", &format!("{root}api/wait?revision={revision}"), "");
        String::from_utf8(answer.body).unwrap()
    };
    assert_eq!(wait("-1"), "{\"revision\": 0}");
    let tell = server.teller();
    let begun = Instant::now();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        tell();
    });
    assert_eq!(wait("0"), "{\"revision\": 1}");
    assert!(begun.elapsed() >= Duration::from_millis(150), "it waited for the news");
    thread.join().unwrap();
    assert!(!server.stop_asked());
    assert_eq!(ask(&server, "GET", &format!("{root}api/stop"), "").status, 405);
    assert!(!server.stop_asked());
    assert_eq!(ask(&server, "POST", &format!("{root}api/stop"), "").status, 200);
    assert!(server.stop_asked() && server.stop_listener()());
    assert_eq!(ask(&server, "POST", &format!("{root}api/index"), "").status, 405);
}

#[test]
fn it_ends_with_its_owner() {
    let (_memory, server, _) = memory();
    let host = split(server.address()).0;
    // An open connection does not keep it alive.
    let open = TcpStream::connect(&host).unwrap();
    drop(server);
    drop(open);
    assert!(TcpStream::connect(&host).is_err());
}

#[test]
fn the_page_is_whole_or_missing() {
    let (_memory, server, root) = memory();
    let page = ask(&server, "GET", &root, "");
    if toile_view::is_built() {
        assert_eq!(page.status, 200);
        let text = String::from_utf8(page.body).unwrap();
        for part in text.split('"').filter(|p| p.starts_with("./assets/")) {
            let file = ask(&server, "GET", &format!("{root}{}", &part[2..]), "");
            assert_eq!(file.status, 200, "{part}");
        }
        assert!(!text.contains("https://"), "nothing comes from elsewhere");
    } else {
        assert_eq!(page.status, 404);
    }
}
