import { routes } from '../../../contract/index.ts';
import type { AnyRoute } from '../../../contract/route.ts';
import type { Transport } from '../../support/transports.ts';

/** Every operation over REST. Over RPC one handler serves all, so that some of them show it. */
export function askedOver(transport: Transport): AnyRoute[] {
  return transport === 'REST' ? [...routes] : routes.filter((_, index) => index % 10 === 0);
}
