//! The viewer of toile: a page that is built into this crate, and a server on this machine that shows it.
//!
//! [`Server::start`] listens on a free port of the loopback interface and gives out a [`Content`] under an address that holds a
//! secret; whoever does not know it, comes from another origin or names another host gets nothing. A command that is still
//! running tells the page of news by [`Server::changed`] and hears of its stop button by [`Server::stop_asked`].

mod browser;
mod content;
mod guard;
mod page;
mod server;

pub use browser::open_in_browser;
pub use content::{Content, Folder, Memory};
pub use page::is_built;
pub use server::{Server, ViewError};
