//! TLS as an address asks for it. The server's certificate and its name are always verified.
//!
//! `tls=on` trusts the authorities that the system trusts, `tls=FILE` those in a PEM file. PostgreSQL's own words are
//! understood as well: `sslmode=require` and stronger ones, `sslrootcert=FILE`.

#[cfg(any(feature = "postgres", feature = "redis"))]
use super::CollectError;
use std::path::PathBuf;

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those of the authorities that the system trusts.
    System,
    /// Those of the authorities in a PEM file.
    File(PathBuf),
}

/// The address without what it says about TLS, and that, if it asks for TLS.
pub(super) fn split(url: &str) -> (String, Option<Trust>) {
    // Settings like those of libpq have no question mark.
    let (start, settings, separator) = match url.split_once('?') {
        Some((start, settings)) => (format!("{start}?"), settings, '&'),
        None if url.contains("://") => return (url.to_owned(), None),
        None => match url.split_once(':') {
            Some((scheme, settings)) => (format!("{scheme}:"), settings, ' '),
            None => return (url.to_owned(), None),
        },
    };
    let (mut rest, mut trust) = (Vec::new(), None);
    for setting in settings.split(separator) {
        match setting.split_once('=') {
            Some(("tls" | "sslmode", "off" | "disable" | "allow" | "prefer")) => {}
            Some(
                ("tls", "on")
                | ("sslmode", "require" | "verify-ca" | "verify-full")
                | ("sslrootcert", "system"),
            ) => {
                trust.get_or_insert(Trust::System);
            }
            Some(("tls" | "sslrootcert", file)) => trust = Some(Trust::File(PathBuf::from(file))),
            _ => rest.push(setting),
        }
    }
    let url = start + &rest.join(&separator.to_string());
    (url.trim_end_matches('?').to_owned(), trust)
}

impl Trust {
    /// How a client verifies servers. Errors: the file, or the certificates of the system, cannot be read.
    #[cfg(feature = "postgres")]
    pub(super) fn client(&self) -> Result<rustls::ClientConfig, CollectError> {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject as _;
        let mut roots = rustls::RootCertStore::empty();
        match self {
            Trust::System => drop(
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
            ),
            Trust::File(path) => {
                let certificates =
                    CertificateDer::pem_file_iter(path).map_err(|error| self.unreadable(&error))?;
                for certificate in certificates {
                    let certificate = certificate.map_err(|error| self.unreadable(&error))?;
                    roots
                        .add(certificate)
                        .map_err(|error| self.unreadable(&error))?;
                }
            }
        }
        if roots.is_empty() {
            return Err(self.unreadable(&"it holds no certificate of an authority"));
        }
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let versions = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions();
        let versions = versions.map_err(|error| self.unreadable(&error))?;
        Ok(versions.with_root_certificates(roots).with_no_client_auth())
    }

    /// The text of the PEM file; none for the authorities of the system.
    #[cfg(feature = "redis")]
    pub(super) fn pem(&self) -> Result<Option<Vec<u8>>, CollectError> {
        match self {
            Trust::System => Ok(None),
            Trust::File(path) => std::fs::read(path)
                .map(Some)
                .map_err(|error| self.unreadable(&error)),
        }
    }

    #[cfg(any(feature = "postgres", feature = "redis"))]
    fn unreadable(&self, why: &dyn std::fmt::Display) -> CollectError {
        let place = match self {
            Trust::System => "certificates of the system".to_owned(),
            Trust::File(path) => path.display().to_string(),
        };
        CollectError::Address(format!("{place}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_whom_to_trust() {
        let file = |name: &str| Some(Trust::File(PathBuf::from(name)));
        for (url, rest, trust) in [
            ("postgres://h/d", "postgres://h/d", None),
            (
                "postgres://h/d?sslmode=require",
                "postgres://h/d",
                Some(Trust::System),
            ),
            (
                "postgres://h/d?sslmode=verify-full&sslrootcert=/c.pem&user=u",
                "postgres://h/d?user=u",
                file("/c.pem"),
            ),
            (
                "postgres:host=h sslrootcert=/c.pem sslmode=verify-ca user=u",
                "postgres:host=h user=u",
                file("/c.pem"),
            ),
            ("mysql://h/d?tls=ca.pem", "mysql://h/d", file("ca.pem")),
            ("redis://h?tls=on", "redis://h", Some(Trust::System)),
            ("postgres://h/d?sslmode=disable", "postgres://h/d", None),
            ("sqlite", "sqlite", None),
        ] {
            assert_eq!(split(url), (rest.to_owned(), trust), "{url}");
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_file_without_authorities_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let why = Trust::File(file.path().to_owned())
            .client()
            .map(drop)
            .expect_err("it is empty")
            .to_string();
        assert!(
            why.ends_with("it holds no certificate of an authority"),
            "{why}"
        );
    }
}
