//! Random octets for keys.

use ring::rand::{SecureRandom, SystemRandom};
use rustls::Error;
use rustls::crypto::GetRandomFailed;

pub(super) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut octets = [0; N];
    SystemRandom::new().fill(&mut octets).map_err(|_| GetRandomFailed)?;
    Ok(octets)
}
