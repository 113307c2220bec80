//! ECDH on P-521 (RFC 8446, 4.2.8.2).

use p521::ecdh::diffie_hellman;
use p521::elliptic_curve::sec1::ToEncodedPoint;
use p521::{PublicKey, SecretKey};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};

use super::random::random;

pub(super) static SECP521R1: &dyn SupportedKxGroup = &Group;

#[derive(Debug)]
struct Group;

/// A key of our own.
struct KeyExchange {
    secret: SecretKey,
    public: Box<[u8]>,
}

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        loop {
            let mut octets: [u8; OCTETS] = random()?;
            octets[0] &= 1;
            // A number that is no key is one in more than 2^250.
            if let Ok(secret) = SecretKey::from_slice(&octets) {
                let public = secret.public_key().to_encoded_point(false).as_bytes().into();
                return Ok(Box::new(KeyExchange { secret, public }));
            }
        }
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

impl ActiveKeyExchange for KeyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = match peer {
            [UNCOMPRESSED, ..] => PublicKey::from_sec1_bytes(peer).ok(),
            _ => None,
        };
        let peer = peer.ok_or(PeerMisbehaved::InvalidKeyShare)?;
        let shared = diffie_hellman(self.secret.to_nonzero_scalar(), peer.as_affine());
        Ok(SharedSecret::from(&shared.raw_secret_bytes()[..]))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

/// A number below the order of the curve has so many octets, and one bit in the first.
const OCTETS: usize = 66;
const UNCOMPRESSED: u8 = 4;
