// A real server for the tests: `recollex serve` of a new store, whose clients bring the vectors.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const READY_MS = 60_000;

/** The vector of all texts: the tests look for words. */
export const embedding = new Float32Array(8).fill(1 / Math.sqrt(8));

export class TestServer {
  #child = null;
  /** The addresses that it said. */
  listening = [];
  /** More options of `recollex serve`. */
  options = [];

  constructor() {
    this.folder = mkdtempSync(path.join(tmpdir(), "recollex-js-"));
    this.address = `unix://${this.folder}/socket`;
  }

  /** Start it, again too, and wait until it listens. */
  async start() {
    const python = process.env.RECOLLEX_PYTHON ?? "python3";
    const where = ["--store", `${this.folder}/store`, "--socket", `${this.folder}/socket`];
    const fixed = ["--embedder", "given:8", "--durability", "off", "--workers", "0"];
    const code = "import sys; from recollex.cli import main; sys.exit(main())";
    const child = spawn(python, ["-c", code, "serve", ...where, ...fixed, ...this.options], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    await new Promise((resolve, reject) => {
      let said = "";
      const timer = setTimeout(() => reject(new Error(`no server: ${said}`)), READY_MS);
      const listen = (data) => {
        said += data;
        if (!said.includes("recollex: ready")) return;
        clearTimeout(timer);
        this.listening = [...said.matchAll(/listening on (\S+)/g)].map((found) => found[1]);
        resolve();
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.once("exit", (code) => {
        clearTimeout(timer);
        reject(new Error(`the server ended with ${code}: ${said}`));
      });
    });
    return this;
  }

  /** End it, and wait until it is gone. */
  async stop(signal = "SIGTERM") {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
