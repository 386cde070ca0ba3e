//! Shapes, each with its role and target: what canvas, SVG and PNG draw.
