//! How wide a text is, without a font engine: the drawing font is monospaced.
