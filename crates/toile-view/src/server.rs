//! The server: a thread of its own that answers the page.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use tokio::sync::{oneshot, watch};

use crate::content::Content;
use crate::guard::Guard;
use crate::page;

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No port, or no thread.
    #[error("cannot start the server of the viewer: {0}; is the loopback interface up?")]
    Start(#[from] io::Error),
    /// No secret could be drawn.
    #[error("this system gives no random numbers: {0}")]
    Random(String),
}

/// How long the page waits for news before it asks again.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server; it ends when this is dropped.
pub struct Server {
    address: String,
    news: watch::Sender<u64>,
    shared: Arc<Shared>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    guard: Guard,
    content: Box<dyn Content>,
    news: watch::Receiver<u64>,
    stop: AtomicBool,
    /// Answers given, for those who wait until the page has seen the end.
    seen: AtomicU64,
}

impl Server {
    /// Begins to give out `content` on a free port of this machine.
    pub fn start(content: impl Content) -> Result<Self, ViewError> {
        let mut secret = [0u8; 16];
        getrandom::fill(&mut secret).map_err(|e| ViewError::Random(e.to_string()))?;
        let token: String = secret.iter().map(|b| format!("{b:02x}")).collect();
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let address = format!("http://127.0.0.1:{port}/{token}/");
        let (news, receiver) = watch::channel(0);
        let shared = Arc::new(Shared {
            guard: Guard::new(token, port),
            content: Box::new(content),
            news: receiver,
            stop: AtomicBool::new(false),
            seen: AtomicU64::new(0),
        });
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let app = Router::new().fallback(answer).with_state(shared.clone());
        let thread = std::thread::Builder::new().name("toile-view".into()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let serving = axum::serve(listener, app);
                // Open connections do not keep it alive.
                tokio::select! {
                    _ = serving.into_future() => {}
                    _ = ended => {}
                }
            });
        })?;
        Ok(Self { address, news, shared, end: Some(end), thread: Some(thread) })
    }

    /// The address to open, secret included.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Tells the page that the record has changed. May be called from any thread through [`Server::teller`].
    pub fn changed(&self) {
        self.news.send_modify(|n| *n += 1);
    }

    /// A function that tells the page that the record has changed.
    pub fn teller(&self) -> impl Fn() + Send + Sync + use<> {
        let news = self.news.clone();
        move || news.send_modify(|n| *n += 1)
    }

    /// Whether somebody pressed stop.
    pub fn stop_asked(&self) -> bool {
        self.shared.stop.load(Ordering::SeqCst)
    }

    /// A function that says whether somebody pressed stop.
    pub fn stop_listener(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let shared = self.shared.clone();
        move || shared.stop.load(Ordering::SeqCst)
    }

    /// Number of answers so far.
    pub fn answers(&self) -> u64 {
        self.shared.seen.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path();
    let mut response = match shared.guard.admit(request.headers(), path) {
        Err(refusal) => plain(StatusCode::FORBIDDEN, refusal.words()),
        Ok(rest) => {
            let (rest, query) = (rest.to_owned(), request.uri().query().unwrap_or("").to_owned());
            let method = request.method().clone();
            // Without the last slash relative addresses would miss the secret.
            if rest.is_empty() && !path.ends_with('/') {
                let mut response = plain(StatusCode::PERMANENT_REDIRECT, "");
                let place = format!("/{}/", shared.guard.token());
                if let Ok(place) = HeaderValue::from_str(&place) {
                    response.headers_mut().insert(axum::http::header::LOCATION, place);
                }
                response
            } else {
                inside(&shared, &method, &rest, &query).await
            }
        }
    };
    shared.seen.fetch_add(1, Ordering::SeqCst);
    let headers = response.headers_mut();
    let set = [
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ));
    response
}

async fn inside(shared: &Shared, method: &Method, path: &str, query: &str) -> Response {
    if path == "api/stop" {
        if method != Method::POST {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "stop is asked for by POST");
        }
        shared.stop.store(true, Ordering::SeqCst);
        return plain(StatusCode::OK, "stopping");
    }
    if method != Method::GET && method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "this can only be read");
    }
    match path {
        "" => file("index.html"),
        "api/index" => found(
            shared.content.index(),
            "application/json",
            "there is no record yet: view.json is missing",
        ),
        "api/about" => {
            let body = format!("{{\"report\": {}}}", shared.content.has_report());
            with(StatusCode::OK, "application/json", body.into_bytes())
        }
        "api/wait" => wait(shared, query).await,
        "report.html" => {
            let mut response =
                found(shared.content.report(), "text/html; charset=utf-8", "there is no report");
            // It brings its own, stricter rules.
            let rules = HeaderValue::from_static(
                "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'",
            );
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, rules);
            response
        }
        _ => match path.strip_prefix("api/array/") {
            Some(name) if is_plain(name) => found(
                shared.content.array(name),
                "application/octet-stream",
                "there is no such array",
            ),
            Some(_) => plain(StatusCode::BAD_REQUEST, "that is not the name of an array"),
            None => file(path),
        },
    }
}

/// Names that cannot leave the folder: small letters, digits and `_`, ending in `.bin`.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= 64
        && name.strip_suffix(".bin").is_some_and(|s| !s.is_empty() && s.chars().all(allowed))
}

/// Answers when there is news, or after a while.
async fn wait(shared: &Shared, query: &str) -> Response {
    let known: Option<u64> = query.strip_prefix("revision=").and_then(|r| r.parse().ok());
    let mut news = shared.news.clone();
    let waiting = news.wait_for(|now| Some(*now) != known);
    let revision = match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(Ok(now)) => *now,
        _ => known.unwrap_or(0),
    };
    let body = format!("{{\"revision\": {revision}}}");
    with(StatusCode::OK, "application/json", body.into_bytes())
}

fn file(path: &str) -> Response {
    match page::file(path) {
        Some((bytes, kind)) => with(StatusCode::OK, kind, bytes.to_vec()),
        None => plain(StatusCode::NOT_FOUND, "there is no such file"),
    }
}

fn found(result: io::Result<Vec<u8>>, kind: &'static str, missing: &str) -> Response {
    match result {
        Ok(bytes) => with(StatusCode::OK, kind, bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => plain(StatusCode::NOT_FOUND, missing),
        Err(e) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("cannot read it: {e}")),
    }
}

fn plain(status: StatusCode, text: &str) -> Response {
    with(status, "text/plain; charset=utf-8", text.into())
}

fn with(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
