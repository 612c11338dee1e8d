//! Addresses: whose they are, where a redirect leads, and names written into them.

/// The scheme, host and port of an address, in lower case; `None` if it is none of HTTP.
pub(super) fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    // A user's name before the host is what somebody pretends with.
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        // The colons of an address of IPv6 are within brackets.
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (host.as_str(), ""),
    };
    let port = if port.is_empty() { default_port } else { port };
    (!name.is_empty()).then(|| format!("{scheme}://{name}:{port}"))
}

/// Where a redirect from `url` to `location` leads; `None` where that is no address of HTTP, or would give up encryption.
pub(super) fn redirected(url: &str, location: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let target = match location {
        _ if location.contains("://") => location.to_owned(),
        _ if location.starts_with("//") => format!("{scheme}:{location}"),
        _ if location.starts_with('/') => format!("{scheme}://{authority}{location}"),
        _ => return None,
    };
    let is_secure = |url: &str| Some(origin(url)?.starts_with("https:"));
    (is_secure(&target)? || !is_secure(url)?).then_some(target)
}

/// The text within an address, where a slash is kept or is a part of a name.
pub(super) fn encoded(text: &str, keeps_slashes: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let is_kept = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || keeps_slashes && byte == b'/';
        match is_kept {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_a_port() {
        let same = |a: &str, b: &str| origin(a).is_some() && origin(a) == origin(b);
        assert!(same("https://Hub.co", "HTTPS://hub.co:443/a?b"));
        assert!(same("http://[::1]/a", "http://[::1]:80/b"));
        for other in [
            "http://hub.co",
            "https://hub.co:8443",
            "https://hub.co.evil.org/",
            "https://hub.co@evil.org/",
            "https://evil.org\\hub.co/",
        ] {
            assert!(!same("https://hub.co", other), "{other}");
        }
        assert_eq!(origin("ftp://a"), None);
        assert_eq!(origin("https:///a"), None);
        assert_eq!(origin("a"), None);
    }

    #[test]
    fn redirects_lead_where_they_say() {
        let from = |location| redirected("https://hub.co/a/b?c", location);
        assert_eq!(from("/d?e").as_deref(), Some("https://hub.co/d?e"));
        assert_eq!(from("//cdn.co/d").as_deref(), Some("https://cdn.co/d"));
        assert_eq!(from("https://x/").as_deref(), Some("https://x/"));
        for refused in ["http://hub.co/d", "file:///etc/passwd", "d", ""] {
            assert_eq!(from(refused), None, "{refused}");
        }
        let open = redirected("http://mirror:80", "http://mirror:80/d");
        assert_eq!(open.as_deref(), Some("http://mirror:80/d"));
    }

    #[test]
    fn names_are_encoded() {
        assert_eq!(encoded("refs/pr/1", false), "refs%2Fpr%2F1");
        assert_eq!(
            encoded("a b/\u{e9}?#.jinja", true),
            "a%20b/%C3%A9%3F%23.jinja"
        );
    }
}
