//! What the tools of phones want: an Android archive's folder with prefab's metadata, and an XCFramework.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::layout::{copy_headers, create};
use super::library;
use super::targets::{Check, Platform, Target};
use crate::shell;

/// What Rust's targets for Android ask at least, and the NDK whose platform that is.
const ANDROID_API: u32 = 21;
const NDK: u32 = 25;

/// `android/`: an unpacked AAR; `zip -r ../kvcore.aar .` in it makes the file. Nothing where no target is Android's.
pub(super) fn android(folder: &Path, targets: &[&'static Target], version: &str) -> Result<(), String> {
    let abis = targets.iter().filter_map(|target| match &target.check {
        Check::Android(_, _, abi) => Some((*target, *abi)),
        _ => None,
    });
    let root = folder.join("android");
    let module = root.join("prefab/modules/kvcore");
    let mut any = false;
    for (target, abi) in abis {
        any = true;
        let libs = module.join(format!("libs/android.{abi}"));
        create(&libs)?;
        copy_archive(folder, target, &libs)?;
        let text = format!(
            "{{\n  \"abi\": \"{abi}\",\n  \"api\": {ANDROID_API},\n  \"ndk\": {NDK},\n  \"stl\": \"none\",\n  \
             \"static\": true\n}}\n"
        );
        shell::write(&libs.join("abi.json"), &text)?;
    }
    if !any {
        return Ok(());
    }
    copy_headers(&folder.join("include"), &module.join("include"))?;
    shell::write(
        &module.join("module.json"),
        "{\n  \"export_libraries\": [],\n  \"library_name\": \"libkvcore\",\n  \"android\": {}\n}\n",
    )?;
    shell::write(
        &root.join("prefab/prefab.json"),
        &format!(
            "{{\n  \"schema_version\": 2,\n  \"name\": \"kvcore\",\n  \"version\": \"{version}\",\n  \
             \"dependencies\": []\n}}\n"
        ),
    )?;
    shell::write(
        &root.join("AndroidManifest.xml"),
        &format!(
            "<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"org.kvcore\">\n  \
             <uses-sdk android:minSdkVersion=\"{ANDROID_API}\" />\n</manifest>\n"
        ),
    )
}

/// `kvcore.xcframework/`, as `xcodebuild -create-xcframework -library … -headers include` makes it.
pub(super) fn xcframework(folder: &Path, targets: &[&'static Target]) -> Result<(), String> {
    let root = folder.join("kvcore.xcframework");
    let mut libraries = String::new();
    for target in targets {
        let Check::Apple(platform) = &target.check else { continue };
        let slice = root.join(platform.folder);
        copy_headers(&folder.join("include"), &slice.join("Headers"))?;
        copy_archive(folder, target, &slice)?;
        libraries += &entry(platform);
    }
    if libraries.is_empty() {
        return Ok(());
    }
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>AvailableLibraries</key>
	<array>
{libraries}	</array>
	<key>CFBundlePackageType</key>
	<string>XFWK</string>
	<key>XCFrameworkFormatVersion</key>
	<string>1.0</string>
</dict>
</plist>
"#
    );
    shell::write(&root.join("Info.plist"), &text)
}

fn entry(platform: &Platform) -> String {
    let mut text = format!(
        "\t\t<dict>
\t\t\t<key>BinaryPath</key>
\t\t\t<string>libkvcore.a</string>
\t\t\t<key>HeadersPath</key>
\t\t\t<string>Headers</string>
\t\t\t<key>LibraryIdentifier</key>
\t\t\t<string>{}</string>
\t\t\t<key>LibraryPath</key>
\t\t\t<string>libkvcore.a</string>
\t\t\t<key>SupportedArchitectures</key>
\t\t\t<array>
\t\t\t\t<string>arm64</string>
\t\t\t</array>
\t\t\t<key>SupportedPlatform</key>
\t\t\t<string>ios</string>
",
        platform.folder
    );
    if !platform.variant.is_empty() {
        let variant = platform.variant;
        let _ = write!(text, "\t\t\t<key>SupportedPlatformVariant</key>\n\t\t\t<string>{variant}</string>\n");
    }
    text + "\t\t</dict>\n"
}

fn copy_archive(folder: &Path, target: &Target, to: &Path) -> Result<(), String> {
    let file = to.join("libkvcore.a");
    fs::copy(library(folder, target).join("libkvcore.a"), &file)
        .map(drop)
        .map_err(|error| format!("{}: {error}", file.display()))
}
