//! Writes URLs (`URL.String` and the forms of `net/http`).

use super::{Url, User, as_written, cut};
use crate::escape::{Part, escape};

impl User {
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = escape(&self.name, Part::UserPassword);
        if let Some(password) = &self.password {
            text.push(b':');
            text.extend(escape(password, Part::UserPassword));
        }
        text
    }
}

impl Url {
    /// The text of the URL (`URL.String`).
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        if !self.scheme.is_empty() {
            text.extend_from_slice(&self.scheme);
            text.push(b':');
        }
        if self.opaque.is_empty() {
            self.push_authority_and_path(&mut text);
        } else {
            text.extend_from_slice(&self.opaque);
        }
        self.push_query(&mut text);
        if !self.fragment.is_empty() {
            text.push(b'#');
            match as_written(&self.raw_fragment, &self.fragment, Part::Fragment) {
                Some(written) => text.extend_from_slice(written),
                None => text.extend(escape(&self.fragment, Part::Fragment)),
            }
        }
        text
    }

    fn push_authority_and_path(&self, text: &mut Vec<u8>) {
        let hostless = self.host.is_empty() && self.user.is_none();
        if !(hostless && (self.scheme.is_empty() || self.omit_host)) {
            if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() {
                text.extend_from_slice(b"//");
            }
            if let Some(user) = &self.user {
                text.extend(user.text());
                text.push(b'@');
            }
            text.extend(escape(&self.host, Part::Host));
        }
        let path = self.escaped_path();
        if !path.is_empty() && path[0] != b'/' && !self.host.is_empty() {
            text.push(b'/');
        }
        // Without `./`, a colon in the first segment would read as the end of a scheme.
        if text.is_empty() && cut(&path, b'/').0.contains(&b':') {
            text.extend_from_slice(b"./");
        }
        text.extend(path);
    }

    fn push_query(&self, text: &mut Vec<u8>) {
        if self.force_query || !self.query.is_empty() {
            text.push(b'?');
            text.extend_from_slice(&self.query);
        }
    }

    /// The text without the password (`http.stripPassword`).
    pub fn text_without_password(&self) -> Vec<u8> {
        match &self.user {
            Some(user) if user.password.is_some() => {
                let hidden = [&user.name[..], b":***@"].concat();
                replace_once(&self.text(), &[&user.text()[..], b"@"].concat(), &hidden)
            }
            _ => self.text(),
        }
    }

    /// The text without name and password, as a Referer header gives it.
    pub fn text_without_user(&self) -> Vec<u8> {
        match &self.user {
            Some(user) => replace_once(&self.text(), &[&user.text()[..], b"@"].concat(), b""),
            None => self.text(),
        }
    }

    /// The target in the request line (`URL.RequestURI`).
    pub fn request_uri(&self) -> Vec<u8> {
        let mut uri = if self.opaque.starts_with(b"//") {
            [&self.scheme[..], b":", &self.opaque].concat()
        } else if self.opaque.is_empty() {
            self.escaped_path()
        } else {
            self.opaque.clone()
        };
        if uri.is_empty() {
            uri.push(b'/');
        }
        self.push_query(&mut uri);
        uri
    }
}

fn replace_once(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    match text.windows(what.len()).position(|window| window == what) {
        Some(start) => [&text[..start], with, &text[start + what.len()..]].concat(),
        None => text.to_vec(),
    }
}
