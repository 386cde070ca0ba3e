//! Where everything of a diagram stands.
