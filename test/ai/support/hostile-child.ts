// What a document could make its reader do, if it took it over: each task tries one thing, and answers what it got.
import { execFileSync, spawnSync } from 'node:child_process';
import { promises } from 'node:dns';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Worker } from 'node:worker_threads';
import { serveTasks } from '../../../ai/sandbox/serve-tasks.ts';

interface Target {
  port: number;
  file: string;
  pid: number;
}

/** A thread has modules of its own, which nothing has changed, and without arguments no permission model. */
function inThread(expression: string): Promise<unknown> {
  const code = `require('node:worker_threads').parentPort.postMessage(${expression})`;
  return new Promise((resolve, reject) => new Worker(code, { eval: true, execArgv: [] }).once('message', resolve).once('error', reject));
}

const attempts: Record<string, (target: Target) => unknown> = {
  connect: ({ port }) =>
    new Promise((resolve, reject) =>
      connect(port, '127.0.0.1')
        .once('connect', () => resolve('connected'))
        .once('error', reject),
    ),
  fetch: async ({ port }) => (await fetch(`http://127.0.0.1:${port}`)).status,
  connectBelow: () => (process as unknown as { binding(name: string): unknown }).binding('tcp_wrap'),
  askNameServer: ({ port }) => {
    const resolver = new promises.Resolver();
    resolver.setServers([`127.0.0.1:${port}`]);
    return resolver.resolve4('secret.example.com');
  },
  lookUp: () => promises.lookup('localhost'),
  networks: () => Object.keys(networkInterfaces()),
  readInThread: () => inThread("require('node:fs').readFileSync('/etc/passwd', 'utf8')"),
  spawnInThread: () => inThread("require('node:child_process').execFileSync('/bin/cat', ['/etc/passwd']).toString()"),
  database: ({ file }) => {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? {};
    if (!DatabaseSync) throw Object.assign(new Error('There is no such module.'), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' });
    return new DatabaseSync(`${file}.db`);
  },
  environ: () => Object.keys(process.env).filter((name) => !name.startsWith('NODE_CHANNEL_')),
  environOfParent: () => readFileSync(`/proc/${process.ppid}/environ`, 'utf8'),
  environOfParentByTask: () => readFileSync(`/proc/${process.ppid}/task/${process.ppid}/environ`, 'utf8'),
  memoryOfParent: () => readFileSync(`/proc/${process.ppid}/mem`).length,
  passwords: () => readFileSync('/etc/passwd', 'utf8'),
  processes: () => readdirSync('/proc').length,
  dataDirectory: ({ file }) => readFileSync(file, 'utf8'),
  configuration: () => readFileSync(new URL('../../../base/config/server.ts', import.meta.url), 'utf8'),
  write: ({ file }) => writeFileSync(`${file}-of-child`, 'x'),
  overwrite: ({ file }) => writeFileSync(file, 'x'),
  changeCode: () => writeFileSync(new URL(import.meta.url), '// changed'),
  spawn: () => {
    const { error, stdout } = spawnSync('/bin/cat', ['/etc/passwd'], { encoding: 'utf8' });
    if (error) throw error;
    return stdout;
  },
  execute: () => execFileSync('/bin/sh', ['-c', 'id']).toString(),
  addOn: () => process.dlopen({ exports: {} } as NodeModule, '/usr/lib/x86_64-linux-gnu/libm.so.6'),
  killParent: () => process.kill(process.ppid, 0),
  user: () => process.getuid?.(),
  killProcess: ({ pid }) => process.kill(pid, 0),
  limits: () => (process.report.getReport() as { userLimits: object }).userLimits,
};

serveTasks(
  {
    attempt: async ({ name, ...target }: Target & { name: string }) => {
      try {
        return { got: await attempts[name]?.(target) };
      } catch (error) {
        return { refused: error instanceof Error ? `${'code' in error ? error.code : ''} ${error.message}` : String(error) };
      }
    },
    die: ({ afterMs }: { afterMs: number }) =>
      new Promise(() => {
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), afterMs);
      }),
  },
  async () => null,
);
