import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { expect } from 'chai';
import { PasswordHasher } from '../../auth/password-hasher.ts';
import { runProgram, until } from '../support/processes.ts';

const password = 'a long password';

describe('The process that hashes passwords', () => {
  let hasher: PasswordHasher;
  let warnings: unknown[];
  let log: { warn(reason: unknown): void };
  beforeEach(() => {
    const seen: unknown[] = [];
    warnings = seen;
    log = { warn: (reason) => void seen.push(reason) };
    hasher = new PasswordHasher({ log });
  });
  afterEach(() => {
    if (hasher.pid !== undefined) process.kill(hasher.pid, 'SIGKILL');
  });

  const isAlive = (pid: number | undefined) => {
    try {
      return pid !== undefined && process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('hashes and verifies as better-auth does, several at once', async () => {
    const own = await hashPassword(password);
    const [hashed, right, wrong] = await Promise.all([
      hasher.hash(password),
      hasher.verify({ hash: own, password }),
      hasher.verify({ hash: own, password: 'another password' }),
    ]);
    expect(await verifyPassword({ hash: hashed, password })).to.equal(true);
    expect([right, wrong]).to.deep.equal([true, false]);
  });

  it('starts with the first password, is another process, comes after others, and knows no secrets', async () => {
    expect(hasher.pid).to.equal(undefined);
    await hasher.hash(password);
    const { pid } = hasher;
    expect(isAlive(pid)).to.equal(true);
    expect(pid).not.to.equal(process.pid);
    await until(async () => getPriority(pid as number) === 5);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8'))
      .not.to.include('SECRET')
      .and.not.to.include('TEST_');
    await hasher.hash(password);
    expect(hasher.pid).to.equal(pid);
  });

  it('loses nothing when it is killed, and starts again after a pause', async () => {
    hasher = new PasswordHasher({ log, pauseMs: 4_000 });
    const first = hasher.hash(password);
    const { pid } = hasher;
    process.kill(pid as number, 'SIGKILL');
    expect(await verifyPassword({ hash: await first, password })).to.equal(true);
    expect([hasher.pid, warnings]).to.deep.equal([undefined, [{ code: null, signal: 'SIGKILL' }]]);
    await hasher.hash(password);
    expect(hasher.pid).to.equal(undefined);
    await delay(4_000);
    await hasher.hash(password);
    expect(hasher.pid).to.be.a('number').and.not.equal(pid);
  });

  it('is not waited for if it has stopped', async () => {
    hasher = new PasswordHasher({ log, patienceMs: 1_000, pauseMs: 0 });
    let hash = '';
    await until(async () => {
      hash = await hasher.hash(password);
      return hasher.pid !== undefined;
    });
    const { pid } = hasher;
    process.kill(pid as number, 'SIGSTOP');
    expect(await hasher.verify({ hash, password })).to.equal(true);
    expect(hasher.pid).not.to.equal(pid);
    expect(warnings.at(-1)).to.deep.equal({ code: null, signal: 'SIGKILL' });
  });

  it('is not needed: where none can be started, or it ends at once, the parent hashes', async () => {
    for (const entry of [new URL('file:///none.ts'), new URL('data:,')]) {
      hasher = new PasswordHasher({ log, entry });
      expect(await verifyPassword({ hash: await hasher.hash(password), password })).to.equal(true);
      expect(hasher.pid).to.equal(undefined);
    }
    expect(warnings).to.have.length(2);
  });

  it('throws what better-auth throws of a hash that is none', async () => {
    const thrown = await verifyPassword({ hash: 'none', password }).catch((error: Error) => error.message);
    expect(await hasher.verify({ hash: 'none', password }).catch((error: Error) => error.message)).to.equal(thrown);
    expect(isAlive(hasher.pid)).to.equal(true);
  });

  for (const end of ['ends', 'is killed'] as const) {
    it(`does not keep its parent from ending, and ends when that ${end}`, async () => {
      const script = `
        import { PasswordHasher } from './auth/password-hasher.ts';
        const hasher = new PasswordHasher({ log: console });
        await hasher.hash('a long password');
        console.log(hasher.pid);
        ${end === 'is killed' ? "process.kill(process.pid, 'SIGKILL');" : ''}`;
      const run = runProgram(process.execPath, ['--input-type=module', '-e', script]);
      await run.exited;
      const pid = Number(run.stdout());
      expect(pid).to.be.greaterThan(1);
      await until(async () => !isAlive(pid));
    });
  }
});
