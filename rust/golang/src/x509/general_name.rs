//! The tags of a GeneralName (RFC 5280, 4.2.1.6) that Go reads.

use super::der::context;

pub(super) const EMAIL: u8 = context(1);
pub(super) const DNS: u8 = context(2);
pub(super) const URI: u8 = context(6);
pub(super) const IP: u8 = context(7);
