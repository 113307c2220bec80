//! The cgroups of a container: where its first process is, and the files through which a command joins it there.

use std::ffi::CString;
use std::io::Error;
use std::os::fd::OwnedFd;

use crate::check::hierarchy::{Hierarchy, memberships};
use crate::protocol::answer::{Refusal, Refused};
use crate::sys::{contents_at, open};

/// Opens `cgroup.procs` of every cgroup that the first process is in and this program is not.
///
/// Each cgroup has the container's name, or is the root of a hierarchy that the runtime does not use; at least one has
/// the name. A first process that has moved itself elsewhere is the runtime's to judge.
pub(crate) fn open_cgroups(cgroup: &str, id: &str, hierarchies: &[Hierarchy]) -> Result<Vec<OwnedFd>, Refused> {
    let mut opened = Vec::new();
    for (path, place) in places(cgroup, id, hierarchies)? {
        if is_paused(&path, place) {
            return Err(Refused::new(Refusal::Paused));
        }
        if place.own != path.path {
            let file = open(&path.file("cgroup.procs")?, libc::O_WRONLY);
            opened.push(file.map_err(|error| Refused::of(Refusal::Cgroup, &error))?);
        }
    }
    Ok(opened)
}

/// A cgroup of a container.
struct Place<'a> {
    mount: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn file(&self, name: &str) -> Result<CString, Refused> {
        let slash = if self.path == "/" { "" } else { "/" };
        let path = format!("{}{}{slash}{name}", self.mount, self.path);
        CString::new(path).map_err(|_| Refused::new(Refusal::Cgroup))
    }
}

/// The cgroups of the first process, each with its hierarchy.
fn places<'a>(
    cgroup: &'a str,
    id: &str,
    hierarchies: &'a [Hierarchy],
) -> Result<Vec<(Place<'a>, &'a Hierarchy)>, Refused> {
    let refused = || Refused::new(Refusal::Cgroup);
    let mut places = Vec::new();
    let mut is_named = false;
    let mut count = 0;
    for (controllers, path) in memberships(cgroup) {
        let hierarchy = hierarchies.iter().find(|at| at.controllers == controllers).ok_or_else(refused)?;
        let names = names_the_container(path, id);
        if !names && path != "/" {
            return Err(refused());
        }
        is_named |= names;
        count += 1;
        if !hierarchy.mount.is_empty() {
            places.push((Place { mount: &hierarchy.mount, path }, hierarchy));
        } else if hierarchy.own != path {
            return Err(refused());
        }
    }
    if is_named && count == hierarchies.len() { Ok(places) } else { Err(refused()) }
}

/// Whether the last part of a path is the container's own: `ID` (cgroupfs) or `PREFIX-ID.scope` (systemd).
fn names_the_container(path: &str, id: &str) -> bool {
    let Some((above, last)) = path.rsplit_once('/') else {
        return false;
    };
    let scope =
        last.strip_suffix(".scope").and_then(|name| name.strip_suffix(id)).is_some_and(|name| name.ends_with('-'));
    (last == id || scope) && !above.split('/').any(|part| part == "..")
}

/// A command that joined a paused container would stand still until its timeout, and the runtime says so at once.
fn is_paused(place: &Place<'_>, hierarchy: &Hierarchy) -> bool {
    let (file, is_frozen): (_, fn(&str) -> bool) = match &*hierarchy.controllers {
        "" => ("cgroup.events", |text| text.lines().any(|line| line == "frozen 1")),
        controllers if controllers.split(',').any(|name| name == "freezer") => {
            ("freezer.state", |text| text.trim_end() != "THAWED")
        }
        _ => return false,
    };
    // The root of a hierarchy has no such file: it cannot be frozen.
    let text = place.file(file).ok().and_then(|file| contents_at(libc::AT_FDCWD, &file).ok());
    text.is_some_and(|text| is_frozen(&String::from_utf8_lossy(&text)))
}

/// Reads a file of a process that may have ended.
pub(crate) fn unreadable(error: &Error) -> Refused {
    Refused::of(Refusal::Identity, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn hierarchy(controllers: &str, mount: &str) -> Hierarchy {
        Hierarchy { controllers: controllers.to_owned(), mount: mount.to_owned(), own: "/".to_owned() }
    }

    fn outcome(cgroup: &str) -> Result<Vec<String>, Refusal> {
        let hierarchies = [hierarchy("memory", "/cg/memory"), hierarchy("misc", ""), hierarchy("", "/cg/unified")];
        let files = |(place, _): &(Place<'_>, _)| place.file("cgroup.procs").unwrap().into_string().unwrap();
        places(cgroup, ID, &hierarchies).map(|found| found.iter().map(files).collect()).map_err(|error| error.refusal)
    }

    #[test]
    fn a_container_of_either_driver_is_found() {
        let expected =
            |path: &str| Ok(vec![format!("/cg/memory{path}/cgroup.procs"), "/cg/unified/cgroup.procs".to_owned()]);
        let path = format!("/k8s.io/{ID}");
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), expected(&path));
        let path = format!("/kubepods.slice/pod1.slice/cri-containerd-{ID}.scope");
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), expected(&path));
    }

    #[test]
    fn a_process_elsewhere_is_not_the_containers() {
        for path in [
            "/",
            "/k8s.io/fedcba9876543210fedcba9876543210",
            &format!("/k8s.io/{ID}/init.scope"),
            &format!("/k8s.io/{ID} (deleted)"),
            &format!("/k8s.io/x{ID}"),
            &format!("/../other/{ID}"),
        ] {
            assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:/\n0::/\n")), Err(Refusal::Cgroup), "{path}");
        }
    }

    #[test]
    fn a_hierarchy_more_or_less_than_this_programs_is_refused() {
        let path = format!("/k8s.io/{ID}");
        assert_eq!(outcome(&format!("3:memory:{path}\n0::/\n")), Err(Refusal::Cgroup));
        assert_eq!(outcome(&format!("4:rdma:/\n3:memory:{path}\n2:misc:/\n0::/\n")), Err(Refusal::Cgroup));
        // Not mounted here, so that nobody could join it.
        assert_eq!(outcome(&format!("3:memory:{path}\n2:misc:{path}\n0::/\n")), Err(Refusal::Cgroup));
    }
}
