//! Resolves references against a base URL (`URL.ResolveReference`).

use super::Url;

impl Url {
    /// Resolves a reference against this URL (`URL.ResolveReference`).
    pub fn resolve(&self, reference: Self) -> Self {
        let mut url = reference.clone();
        let legal = "an escaped path unescapes";
        if reference.scheme.is_empty() {
            url.scheme = self.scheme.clone();
        }
        if !reference.scheme.is_empty() || !reference.host.is_empty() || reference.user.is_some() {
            url.set_path(&resolve_path(&reference.escaped_path(), b"")).expect(legal);
            return url;
        }
        if !reference.opaque.is_empty() {
            return Self { user: None, host: Vec::new(), path: Vec::new(), ..url };
        }
        if reference.path.is_empty() && !reference.force_query && reference.query.is_empty() {
            url.query = self.query.clone();
            if reference.fragment.is_empty() {
                url.fragment = self.fragment.clone();
                url.raw_fragment = self.raw_fragment.clone();
            }
        }
        if reference.path.is_empty() && !self.opaque.is_empty() {
            return Self { opaque: self.opaque.clone(), user: None, host: Vec::new(), path: Vec::new(), ..url };
        }
        url.host = self.host.clone();
        url.user = self.user.clone();
        url.set_path(&resolve_path(&self.escaped_path(), &reference.escaped_path())).expect(legal);
        url
    }
}

/// `url.resolvePath`: the dot segments of RFC 3986, 5.2.4.
fn resolve_path(base: &[u8], reference: &[u8]) -> Vec<u8> {
    let full = match reference.first() {
        None => base.to_vec(),
        Some(b'/') => reference.to_vec(),
        Some(_) => {
            let directory = base.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            [&base[..directory], reference].concat()
        }
    };
    if full.is_empty() {
        return full;
    }
    let mut path = vec![b'/'];
    let mut is_first = true;
    let mut last: &[u8] = b"";
    for segment in full.split(|&byte| byte == b'/') {
        last = segment;
        match segment {
            b"." => is_first = false,
            b".." => {
                let end = path[1..].iter().rposition(|&byte| byte == b'/').map_or(1, |slash| slash + 1);
                path.truncate(end);
                is_first = path.len() == 1;
            }
            _ => {
                if !is_first {
                    path.push(b'/');
                }
                path.extend_from_slice(segment);
                is_first = false;
            }
        }
    }
    if last == b"." || last == b".." {
        path.push(b'/');
    }
    // The path began with one slash, and the reference brought its own.
    if path.get(1) == Some(&b'/') {
        path.remove(0);
    }
    path
}
