import { setTimeout as delay } from 'node:timers/promises';
import { send } from '../drill/tenant.ts';
import type { Compose, Container } from './compose.ts';
import { runCommand } from './run-command.ts';

/** What happens to the containers while clients work. */
export interface Fault {
  name: string;
  inject(compose: Compose): Promise<void>;
}

const awayMs = 8_000;
const services = ['edge', 'api', 'worker', 'ai', 'postgres', 'temporal', 'temporal-ui'];

/** Every fault, in the order in which they are injected. The last three leave what they made. */
export const faults: Fault[] = [
  ...services.map((service) => ({
    name: `stop ${service}, start it after ${awayMs / 1_000} s`,
    inject: async (compose: Compose) => {
      await compose.run('stop', service);
      await delay(awayMs);
      await compose.run('start', service);
    },
  })),
  ...services.map((service) => ({
    name: `restart ${service}`,
    inject: async (compose: Compose) => void (await compose.run('restart', service)),
  })),
  ...['worker', 'postgres', 'temporal'].map((service) => ({
    name: `kill ${service}, start it after ${awayMs / 1_000} s`,
    inject: async (compose: Compose) => {
      await compose.run('kill', '--signal', 'SIGKILL', service);
      await delay(awayMs);
      await compose.run('start', service);
    },
  })),
  {
    name: 'three workers and two APIs',
    inject: async (compose) => {
      await compose.run('up', '--detach', '--no-build', '--no-recreate', '--scale', 'worker=3', '--scale', 'api=2');
    },
  },
  {
    name: 'stop one of the two APIs',
    inject: async (compose) => {
      const second = (await compose.list()).filter(({ service }) => service === 'api').at(-1);
      await compose.run('up', '--detach', '--no-build', '--no-recreate', '--scale', 'worker=3', '--scale', 'api=1');
      if ((await compose.list()).filter(({ service }) => service === 'api').length !== 1) throw new Error(`${second?.id} was not removed`);
      await delay(awayMs);
      await compose.run('up', '--detach', '--no-build', '--no-recreate', '--scale', 'worker=3', '--scale', 'api=2');
    },
  },
  {
    name: 'ops/deploy/upgrade.sh',
    inject: async (compose) => {
      const [address = ''] = (await compose.run('port', 'edge', '8080')).split('\n');
      const before = (await compose.list()).filter(isUpgraded).map(({ id }) => id);
      const watch = watchAnswers(`http://localhost:${address.split(':').at(-1)}`);
      const upgrade = runCommand('sh', ['ops/deploy/upgrade.sh'], { env: compose.env });
      await upgrade.catch(() => {});
      const { asked, failed } = await watch.stop();
      await upgrade;
      if (failed > 0) throw new Error(`${failed} of ${asked} requests failed while ops/deploy/upgrade.sh ran`);
      const after = (await compose.list()).filter(isUpgraded).map(({ id }) => id);
      const kept = after.filter((id) => before.includes(id));
      if (kept.length > 0 || after.length !== before.length)
        throw new Error(`ops/deploy/upgrade.sh left ${kept.length} of ${before.length} containers, and made ${after.length - kept.length}`);
    },
  },
];

function isUpgraded({ service }: Container): boolean {
  return ['ai', 'api', 'worker'].includes(service);
}

const betweenRequestsMs = 100;

/** Asks an API by way of the edge again and again, and counts. Not whether it is ready: one that will stop says no, and serves all else. */
function watchAnswers(url: string): { stop(): Promise<{ asked: number; failed: number }> } {
  let stopping = false;
  let asked = 0;
  let failed = 0;
  const ask = async () => {
    while (!stopping) {
      asked++;
      if ((await send({ url: `${url}/healthz`, method: 'GET' }))?.status !== 200) failed++;
      await delay(betweenRequestsMs);
    }
  };
  const asking = ask();
  return {
    async stop() {
      stopping = true;
      await asking;
      return { asked, failed };
    },
  };
}
