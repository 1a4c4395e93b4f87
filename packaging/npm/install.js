// Replaces the launcher with the program, so that starting it does not start Node first. If this fails, or if
// scripts are not run, the launcher runs the program. On Windows, programs must end in .exe; other package
// managers than npm start the launcher with Node, or share its folder between platforms.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { find } = require("./platform.js");

function install(program) {
  const launcher = path.join(__dirname, "bin", "askback");
  const temporary = `${launcher}-${process.pid}`;
  try {
    try {
      fs.linkSync(program, temporary);
    } catch {
      fs.copyFileSync(program, temporary, fs.constants.COPYFILE_FICLONE);
      fs.chmodSync(temporary, 0o755);
    }
    fs.renameSync(temporary, launcher); // running programs keep the old file
  } catch (error) {
    console.error(`askback: the launcher stays, because it cannot be replaced: ${error.message}`);
  } finally {
    fs.rmSync(temporary, { force: true }); // a link to the launcher itself is not renamed
  }
}

const { program } = find();
if (program && process.platform !== "win32" && /^npm\//.test(process.env.npm_config_user_agent ?? "")) {
  install(program);
}
