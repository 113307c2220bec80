//! Why a certificate is refused.

use std::borrow::Cow;

/// What Go says of a certificate that it cannot parse.
pub(crate) type ParseError = Cow<'static, str>;
