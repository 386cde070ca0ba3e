//! Addresses of databases.

/// An address without its password, for display and recording.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // Possibly settings like those of libpq.
        return hidden(url, &[' ']);
    };
    let rest = hidden(rest, &['&', '#']);
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// Settings without the values of passwords. A value ends at one of `ends`, or where its quotes do.
fn hidden(settings: &str, ends: &[char]) -> String {
    const NAME: &str = "password=";
    let mut shown = String::with_capacity(settings.len());
    let mut rest = settings;
    while let Some(at) = rest.find(NAME) {
        let (before, value) = rest.split_at(at + NAME.len());
        shown.push_str(before);
        shown.push('…');
        let quoted = value.strip_prefix('\'').map(|value| {
            let mut escaped = false;
            let end = value.find(|c| {
                let ends = c == '\'' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or("", |end| &value[end + 1..])
        });
        rest = quoted.unwrap_or_else(|| value.find(ends).map_or("", |end| &value[end..]));
    }
    shown + rest
}

/// The address with the scheme that the client crate knows.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn with_scheme(url: &str, scheme: &str) -> String {
    match url.split_once(':') {
        Some((_, rest)) => format!("{scheme}:{rest}"),
        None => format!("{scheme}://"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden() {
        assert_eq!(
            without_password("postgres:host=h password=p user=u"),
            "postgres:host=h password=… user=u"
        );
        assert_eq!(without_password("redis://:p@h:1"), "redis://@h:1");
        assert_eq!(
            without_password("postgres:password='a b\\' c' user=u"),
            "postgres:password=… user=u"
        );
        assert_eq!(
            without_password("postgres://h/d?password=p&user=u"),
            "postgres://h/d?password=…&user=u"
        );
    }
}
