// SPDX-License-Identifier: Apache-2.0
//! What keeps a function from being opened, one after the other, in a tree of files.

use std::fs;
use std::os::unix::fs::symlink;

use isthmus_host::board::Sysfs;

use super::Folder;

#[test]
fn each_missing_step_is_named_with_what_to_do_about_it() {
    let folder = Folder::new();
    let root = folder.0.as_path();
    let find = || Sysfs::at(root).find("03:00.1").map_err(|error| error.to_string());
    let expect = |begin: &str| {
        let text = find().unwrap_err();
        assert!(text.starts_with(begin), "{text}");
        assert!(!text.contains('\n'), "{text}");
        text
    };
    expect("no PCI function 0000:03:00.1: lspci -D");

    let pci = root.join("sys/bus/pci");
    let device = pci.join("devices/0000:03:00.1");
    fs::create_dir_all(&device).unwrap();
    let text = expect("0000:03:00.1 is bound to no driver, not to vfio-pci;");
    assert!(text.contains(&format!("echo vfio-pci > {}/driver_override;", device.display())));
    assert!(!text.contains("unbind"), "{text}");

    symlink("../../drivers/xdma", device.join("driver")).unwrap();
    let text = expect("0000:03:00.1 is bound to xdma, not to vfio-pci;");
    let unbind = format!("echo 0000:03:00.1 > {}/driver/unbind; ", device.display());
    let probe = format!("{unbind}echo 0000:03:00.1 > {}/drivers_probe", pci.display());
    assert!(text.ends_with(&probe), "{text}");

    fs::remove_file(device.join("driver")).unwrap();
    symlink("../../drivers/vfio-pci", device.join("driver")).unwrap();
    expect("0000:03:00.1 has no IOMMU: switch it on");

    symlink("../../../../kernel/iommu_groups/17", device.join("iommu_group")).unwrap();
    expect(&format!("{}/dev/vfio/17: no such file", root.display()));

    fs::create_dir_all(root.join("dev/vfio")).unwrap();
    fs::write(root.join("dev/vfio/17"), "").unwrap();
    expect(&format!("{}/dev/vfio/vfio: no such file", root.display()));

    fs::write(root.join("dev/vfio/vfio"), "").unwrap();
    let found = find().unwrap();
    assert_eq!((found.address.as_str(), found.group, found.path), ("0000:03:00.1", 17, device));
}
