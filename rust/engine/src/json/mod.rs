//! JSON at the rim: v1.Pod in, statuses both ways. What the API would reject was rejected before; what is absent here
//! is taken as Kubernetes' default.

mod error;
mod pod;
mod status;

pub use self::error::JsonError;
pub use self::pod::{decode_pod, decode_probe, decode_rules};
pub use self::status::{StatusDocument, decode_status};
