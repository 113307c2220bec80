//! The files of a container that runs nothing.

use std::fs::{create_dir, write};
use std::io::Result;
use std::path::PathBuf;

use super::place::FOLDER;

pub(super) struct Bundle {
    folder: PathBuf,
}

impl Bundle {
    pub(super) fn new(specification: &[u8]) -> Result<Self> {
        let folder = PathBuf::from(FOLDER.to_string_lossy().into_owned());
        create_dir(folder.join("rootfs"))?;
        write(folder.join("config.json"), specification)?;
        Ok(Self { folder })
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}
