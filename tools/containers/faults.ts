import { setTimeout as delay } from 'node:timers/promises';
import type { Compose } from './compose.ts';

/** What happens to the containers while clients work. */
export interface Fault {
  name: string;
  inject(compose: Compose): Promise<void>;
}

const awayMs = 8_000;
const services = ['edge', 'api', 'worker', 'ai', 'postgres', 'temporal', 'temporal-ui'];

/** Every fault, in the order in which they are injected. The last two leave what they made. */
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
];
