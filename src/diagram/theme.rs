//! Colours, dashes and line widths by role: the only place that knows them.
