import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { LongTasks, type Pausable } from '../../ai/pool/long-tasks.ts';
import { TaskTimer } from '../../ai/pool/task-timer.ts';
import { childrenOf, isAlive, until } from '../support/processes.ts';
import { type AiService, refusalOf, startAiService } from './support/ai-service.ts';
import { makeSlowPdf } from './support/make-pdf.ts';

class Task implements Pausable {
  paused = false;
  pauses = 0;
  pause(): void {
    this.paused = true;
    this.pauses += 1;
  }
  resume(): void {
    this.paused = false;
  }
}

const pausedOf = (tasks: Task[]) => tasks.filter(({ paused }) => paused).length;

describe('Long tasks', () => {
  it('run as many at once as there are places; the others are stopped and take turns', async () => {
    const long = new LongTasks(1);
    const tasks = [new Task(), new Task(), new Task()];
    const ends = tasks.map((task) => long.begin(task));
    expect(pausedOf(tasks)).to.equal(0);
    await until(() => pausedOf(tasks) === 2);
    expect(long.load).to.deep.equal({ running: 1, paused: 2 });
    const ran = new Set<Task>();
    await until(() => {
      for (const task of tasks) if (!task.paused) ran.add(task);
      return ran.size === 3;
    });
    expect(pausedOf(tasks)).to.equal(2);
    for (const end of ends) end();
    expect([pausedOf(tasks), long.load]).to.deep.equal([0, { running: 0, paused: 0 }]);
  });

  it('make room for the next one when they end', async () => {
    const long = new LongTasks(1);
    const tasks = [new Task(), new Task()];
    const ends = tasks.map((task) => long.begin(task));
    await until(() => pausedOf(tasks) === 1);
    const running = tasks.findIndex(({ paused }) => !paused);
    ends[running]?.();
    expect(pausedOf(tasks)).to.equal(0);
    ends[1 - running]?.();
  });

  it('are not stopped while there are places, nor if they are short', async () => {
    const long = new LongTasks(2);
    const [first, second, short] = [new Task(), new Task(), new Task()];
    const ends = [long.begin(first), long.begin(second)];
    await delay(300);
    const end = long.begin(short);
    await delay(50);
    end();
    await delay(800);
    expect([first.pauses, second.pauses, short.pauses]).to.deep.equal([0, 0, 0]);
    for (const each of ends) each();
  });

  it('rest for two thirds of the time while others wait for a processor, and not when they are done', async () => {
    let waitedMs = 0;
    let looks = 0;
    const long = new LongTasks(2, () => {
      looks += 1;
      return waitedMs;
    });
    const tasks = [new Task(), new Task()];
    const ends = tasks.map((task) => long.begin(task));
    await delay(600);
    expect(tasks.map(({ pauses }) => pauses)).to.deep.equal([0, 0]);

    const others = setInterval(() => (waitedMs += 1), 10);
    const seen = { running: 0, resting: 0, one: 0 };
    const names = ['running', 'one', 'resting'] as const;
    const watch = setInterval(() => seen[names[pausedOf(tasks)] ?? 'one']++, 2);
    await until(() => Math.min(...tasks.map(({ pauses }) => pauses)) >= 20);
    clearInterval(watch);
    expect(seen.one).to.equal(0);
    expect(seen.resting / (seen.resting + seen.running)).to.be.within(0.55, 0.85);

    clearInterval(others);
    await until(() => pausedOf(tasks) === 2);
    for (const end of ends) end();
    expect([pausedOf(tasks), long.load]).to.deep.equal([0, { running: 0, paused: 0 }]);
    const looked = looks;
    await delay(100);
    expect(looks).to.equal(looked);
  });

  it('rest no more once nobody waits', async () => {
    let waitedMs = 0;
    const long = new LongTasks(1, () => waitedMs);
    const task = new Task();
    const end = long.begin(task);
    const others = setInterval(() => (waitedMs += 1), 10);
    await until(() => task.pauses > 0);
    clearInterval(others);
    await delay(3_000);
    const { pauses } = task;
    await delay(500);
    expect([task.pauses, task.paused]).to.deep.equal([pauses, false]);
    end();
  });

  it('have their time without the pauses', async () => {
    let endedAt = 0;
    const startedAt = performance.now();
    const timer = new TaskTimer(200, () => (endedAt = performance.now() - startedAt));
    await delay(50);
    timer.pause();
    await delay(300);
    expect(endedAt).to.equal(0);
    timer.resume();
    await until(() => endedAt > 0);
    expect(endedAt).to.be.within(490, 1_200);
  });
});

const isLinux = process.platform === 'linux';
const cores = availableParallelism();

(isLinux ? describe : describe.skip)('Readers of documents', () => {
  const slow = makeSlowPdf();
  /** There is memory enough for it. */
  const spare = 1;
  let service: AiService;
  before(async () => {
    const recognition = { OCR_PROVIDER: 'local', AI_RECOGNIZERS: '1' };
    service = await startAiService({ AI_READERS: '3', AI_READING_CORES: '1', EXTRACT_TIMEOUT_SECONDS: '2', ...recognition });
  });
  after(() => service.stop());

  const running = (entry: string) => childrenOf(service.pid).flatMap(({ pid, command }) => (command.includes(entry) ? pid : []));
  const readers = () => running('extract/child.ts');
  const recognizers = () => running('ocr/child.ts');
  const stateOf = (pid: number) =>
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
  const stopped = () => readers().filter((pid) => isAlive(pid) && stateOf(pid)[0] === 'T');

  it('come after other programs', async () => {
    await until(() => readers().length === 3 + spare && recognizers().length === 1);
    for (const pid of [...readers(), ...recognizers()]) {
      expect(stateOf(pid)[16], 'niceness').to.equal('5');
      const group = `/proc/${pid}/autogroup`;
      if (existsSync(group)) expect(readFileSync(group, 'latin1')).to.match(/nice 5$/m);
    }
  });

  it('leave a processor free: of two long documents one is stopped, and each has its whole time', async () => {
    const startedAt = performance.now();
    const reading = [1, 2].map(async () => await refusalOf(await service.extract(slow, 'application/pdf')));
    await until(() => stopped().length === 1);
    const { text } = await service.client.extract({ body: Buffer.from('a short one'), contentType: 'text/plain' });
    expect(text).to.equal('a short one');
    expect(await Promise.all(reading)).to.deep.equal(Array(2).fill([408, 'extract_timeout']));
    expect(performance.now() - startedAt).to.be.greaterThan(3_500);
    await until(() => readers().length === 3 + spare && stopped().length === 0);
  });

  (cores > 1 ? it : it.skip)('rest again and again while other programs want all processors', async () => {
    const reader = await startAiService({ AI_READERS: '1', AI_READING_CORES: '1', EXTRACT_TIMEOUT_SECONDS: '60' });
    const children = childrenOf(reader.pid).map(({ pid }) => pid);
    const isResting = () => children.some((pid) => isAlive(pid) && stateOf(pid)[0] === 'T');
    const spin = () => spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' });
    const others = Array.from({ length: cores }, spin);
    try {
      void reader.extract(slow, 'application/pdf').catch(() => undefined);
      for (let rest = 0; rest < 3; rest++) {
        await until(isResting);
        await until(() => !isResting());
      }
    } finally {
      for (const other of others) other.kill('SIGKILL');
      reader.program.child.kill('SIGKILL');
      await until(() => !children.some(isAlive));
    }
  });

  it('end with the service, also while they are stopped', async () => {
    const ending = await startAiService({ AI_READERS: '2', AI_READING_CORES: '1' });
    const children = childrenOf(ending.pid).map(({ pid }) => pid);
    const reading = [1, 2].map(() => ending.extract(slow, 'application/pdf').catch(() => undefined));
    await until(() => children.some((pid) => isAlive(pid) && stateOf(pid)[0] === 'T'));
    ending.program.child.kill('SIGKILL');
    await until(() => !children.some(isAlive));
    await Promise.all(reading);
  });
});
