// postgres.mjs starts a PostgreSQL of its own on a free loopback port. fsync and synchronous_commit keep
// their default, on.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort } from "../cycle.mjs";

// folders are where the programs of PostgreSQL may be: in $PATH, or where Debian has them.
function folders() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  return [...process.env.PATH.split(":"), ...versions.map((version) => join(debian, version, "bin"))];
}

// user returns the user and group to run PostgreSQL as: it does not run as root.
function user() {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

export async function startPostgres() {
  const needed = ["initdb", "postgres", "pg_isready"];
  const programs = folders().find((folder) => needed.every((name) => existsSync(join(folder, name))));
  if (!programs)
    throw new Error(
      `PostgreSQL is not installed: no folder in $PATH or /usr/lib/postgresql contains ${needed.join(", ")}`,
    );
  const run = (name, ...args) => execFileSync(join(programs, name), args, { ...user(), encoding: "utf8", cwd: "/" });

  const data = resolve(process.env.PEER_DATA ?? ".", "postgres");
  mkdirSync(data, { mode: 0o700 });
  const { uid, gid } = user();
  if (uid !== undefined) chownSync(data, uid, gid);
  run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-instructions");

  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 200,
    shared_buffers: "1GB",
    max_wal_size: "4GB",
    log_min_messages: "panic",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...options], {
    ...user(),
    stdio: ["ignore", "ignore", "inherit"],
    cwd: "/",
  });
  server.on("exit", (code, signal) => {
    console.error(`postgres has ended: ${signal ?? `exit code ${code}`}`);
    process.exit(1);
  });
  await ready(() => run("pg_isready", "-q", "-h", "127.0.0.1", "-p", String(port)));

  return {
    url: `postgresql://postgres@127.0.0.1:${port}`,
    version: run("postgres", "--version").match(/\d+(\.\d+)*/)[0],
    // stop ends the server without waiting for its clients.
    stop: async () => {
      server.removeAllListeners("exit");
      const ended = new Promise((then) => { server.on("exit", then); });
      server.kill("SIGINT");
      await ended;
    },
  };
}

// ready tries until check does not throw.
async function ready(check) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return check();
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((later) => { setTimeout(later, 100); });
    }
  }
}
