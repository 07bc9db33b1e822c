import { routes } from '../../../contract/index.ts';
import type { AnyRoute } from '../../../contract/route.ts';
import type { Transport } from '../../support/transports.ts';

/** Every operation. Over RPC one handler serves all, so that some of them show it by day, and all of them at night. */
export function askedOver(transport: Transport): AnyRoute[] {
  return transport === 'REST' || process.env.TEST_NIGHTLY ? [...routes] : routes.filter((_, index) => index % 10 === 0);
}
