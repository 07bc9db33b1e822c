import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../../../base/config/local.ts';
import { runCommand } from '../run-command.ts';
import { standInLabel } from './recipe.ts';

const suite = 'trixie';

/** Where stand-ins are made, and what they share is kept. */
export function workDirectory(): string {
  const directory = join(loadToolConfig(inheritedEnvironment()).cacheDir, 'containers');
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** The root directory of an image in the making. */
export class RootDirectory {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** A minimal Debian with packages of it. Needs root, and debootstrap; uses the mirror that apt uses. */
  static async create(packages: string[]): Promise<RootDirectory> {
    const root = new RootDirectory(mkdtempSync(join(workDirectory(), 'root-')));
    await runCommand('cp', ['--archive', `${await makeBase()}/.`, root.path]);
    if (packages.length > 0) await root.install(packages);
    return root;
  }

  /** Installs packages of Debian. */
  async install(packages: string[]): Promise<void> {
    // Packages of servers would start them.
    this.write('/usr/sbin/policy-rc.d', '#!/bin/sh\nexit 101\n', 0o755);
    cpSync('/etc/resolv.conf', join(this.path, 'etc/resolv.conf'));
    await this.run('apt-get', ['install', '--yes', '--no-install-recommends', ...packages]);
    await this.run('apt-get', ['clean']);
    rmSync(join(this.path, 'usr/sbin/policy-rc.d'));
  }

  /** Runs a command inside. */
  async run(command: string, args: string[]): Promise<string> {
    return await runCommand('nice', ['chroot', this.path, command, ...args], {
      env: { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    });
  }

  /** Copies a file or a directory of this machine. */
  copy(from: string, to: string): void {
    mkdirSync(dirname(join(this.path, to)), { recursive: true });
    cpSync(from, join(this.path, to), { recursive: true, verbatimSymlinks: true });
  }

  /** Copies a program of this machine, for every user. */
  copyProgram(from: string, to: string): void {
    this.copy(from, to);
    chmodSync(join(this.path, to), 0o755);
  }

  write(path: string, text: string, mode = 0o644): void {
    const file = join(this.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  /** Makes an image of it, and removes it. `changes` are lines of a Dockerfile. */
  async toImage(name: string, madeOf: string, changes: string[]): Promise<void> {
    rmSync(join(this.path, 'var/lib/apt/lists'), { recursive: true, force: true });
    const lines = [`LABEL ${standInLabel}="${madeOf}"`, ...changes].flatMap((change) => ['--change', change]);
    const archive = `${this.path}.tar`;
    await runCommand('tar', ['--numeric-owner', '-C', this.path, '-cf', archive, '.']);
    await runCommand('docker', ['import', ...lines, archive, name]);
    rmSync(archive);
    rmSync(this.path, { recursive: true });
  }
}

/** A minimal Debian, kept for the next image. */
async function makeBase(): Promise<string> {
  const base = join(workDirectory(), suite);
  if (existsSync(base)) return base;
  const unfinished = `${base}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const [mirror = ''] = (await runCommand('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])).split('\n');
  await runCommand('nice', ['debootstrap', '--variant=minbase', suite, unfinished, mirror]);
  await runCommand('mv', [unfinished, base]);
  return base;
}
