//! ML-KEM beside a classical group (draft-ietf-tls-ecdhe-mlkem).

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use ml_kem::kem::Decapsulate;
use ml_kem::{Ciphertext, EncodedSizeUser, KemCore, MlKem768, MlKem1024};
use rustls::crypto::ring::kx_group::{SECP256R1, SECP384R1, X25519};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

use super::random::random;

pub(super) static X25519_MLKEM768: &dyn SupportedKxGroup = &Hybrid::<MlKem768> {
    name: NamedGroup::X25519MLKEM768,
    classical: X25519,
    order: Order::PostQuantumFirst,
    kem: PhantomData,
};
pub(super) static SECP256R1_MLKEM768: &dyn SupportedKxGroup = &Hybrid::<MlKem768> {
    name: NamedGroup::secp256r1MLKEM768,
    classical: SECP256R1,
    order: Order::ClassicalFirst,
    kem: PhantomData,
};
pub(super) static SECP384R1_MLKEM1024: &dyn SupportedKxGroup = &Hybrid::<MlKem1024> {
    name: NamedGroup::Unknown(0x11ed),
    classical: SECP384R1,
    order: Order::ClassicalFirst,
    kem: PhantomData,
};

/// Which part of shares and secrets comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    PostQuantumFirst,
    ClassicalFirst,
}

impl Order {
    fn join(self, post_quantum: &[u8], classical: &[u8]) -> Vec<u8> {
        match self {
            Self::PostQuantumFirst => [post_quantum, classical].concat(),
            Self::ClassicalFirst => [classical, post_quantum].concat(),
        }
    }

    /// The post-quantum part, which has `length` octets, and the classical part.
    fn split(self, share: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
        match self {
            Self::PostQuantumFirst => share.split_at_checked(length),
            Self::ClassicalFirst => {
                let (classical, post_quantum) = share.split_at_checked(share.len().checked_sub(length)?)?;
                Some((post_quantum, classical))
            }
        }
    }
}

struct Hybrid<K> {
    name: NamedGroup,
    classical: &'static dyn SupportedKxGroup,
    order: Order,
    kem: PhantomData<fn() -> K>,
}

impl<K> Debug for Hybrid<K> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(formatter)
    }
}

/// Keys of our own.
struct KeyExchange<K: KemCore> {
    name: NamedGroup,
    order: Order,
    classical: Box<dyn ActiveKeyExchange>,
    secret: K::DecapsulationKey,
    public: Vec<u8>,
}

impl<K> SupportedKxGroup for Hybrid<K>
where
    K: KemCore + 'static,
    K::DecapsulationKey: Send + Sync,
{
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let classical = self.classical.start()?;
        let (secret, public) = K::generate_deterministic(&random()?.into(), &random()?.into());
        let public = self.order.join(&public.as_bytes(), classical.pub_key());
        Ok(Box::new(KeyExchange::<K> { name: self.name, order: self.order, classical, secret, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.name
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl<K> ActiveKeyExchange for KeyExchange<K>
where
    K: KemCore,
    K::DecapsulationKey: Send + Sync,
{
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let mut ciphertext = Ciphertext::<K>::default();
        let (post_quantum, classical) =
            self.order.split(peer, ciphertext.len()).ok_or(PeerMisbehaved::InvalidKeyShare)?;
        ciphertext.copy_from_slice(post_quantum);
        let post_quantum = self.secret.decapsulate(&ciphertext).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let classical = self.classical.complete(classical)?;
        Ok(SharedSecret::from(self.order.join(&post_quantum, classical.secret_bytes())))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
