//! JSON at the rim: v1.Pod in, statuses both ways. What the API would reject was rejected before; what is absent here
//! is taken as Kubernetes' default. A key that the API
//! does not have is an error: a misspelt probe must not be a pod without one.

mod error;
mod pod;
mod probe_options;
mod status;

pub use self::error::JsonError;
pub(crate) use self::error::decode;
pub use self::pod::{decode_pod, decode_probe, decode_rules};
pub use self::status::{StatusDocument, decode_status};
