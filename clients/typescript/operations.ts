import type { Contract } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';

/**
 * Whether a call is retried after a transient failure. `repeatable` and `keyed` calls are retried even if the response was lost, the
 * keyed ones with the same `Idempotency-Key`; `charged` ones if the service itself reports that it is unavailable; `once` only if
 * the rate limiter refused the call (429).
 */
export type Repetition = 'repeatable' | 'keyed' | 'charged' | 'once';

type Operations<T> = { [K in keyof T]: T[K] extends AnyRoute ? Repetition : Operations<T[K]> };

/** Every operation of the contract, repeated so that neither the contract's schemas nor zod are loaded at run time. */
export const operations: Operations<Contract> = {
  system: { health: 'repeatable', authConfig: 'repeatable', flags: 'repeatable', jobKinds: 'repeatable' },
  contact: { send: 'once' },
  account: { me: 'repeatable' },
  organizations: {
    usage: 'repeatable',
    usageHistory: 'repeatable',
    costs: 'repeatable',
    auditLog: 'repeatable',
    auditFeed: 'repeatable',
    delete: 'once',
    holds: 'repeatable',
    setHold: 'once',
    liftHold: 'once',
  },
  billing: { status: 'repeatable' },
  workspaces: { list: 'repeatable', get: 'repeatable', create: 'keyed', update: 'once', due: 'repeatable', delete: 'once' },
  documents: {
    list: 'repeatable',
    search: 'charged',
    ask: 'keyed',
    askStream: 'keyed',
    get: 'repeatable',
    createUpload: 'keyed',
    complete: 'repeatable',
    update: 'once',
    versions: 'repeatable',
    downloadUrl: 'repeatable',
    text: 'repeatable',
    delete: 'once',
  },
  jobs: {
    list: 'repeatable',
    get: 'repeatable',
    create: 'keyed',
    createMany: 'keyed',
    cancel: 'once',
    retry: 'keyed',
    stream: 'repeatable',
  },
  webhooks: {
    list: 'repeatable',
    get: 'repeatable',
    create: 'once',
    update: 'once',
    rotateSecret: 'once',
    delete: 'once',
    test: 'once',
    deliveries: 'repeatable',
    delivery: 'repeatable',
    resend: 'once',
    resendMany: 'once',
  },
  apiKeys: { list: 'repeatable', current: 'repeatable', create: 'once', update: 'once', rotate: 'once', revoke: 'once' },
  admin: {
    organizations: {
      list: 'repeatable',
      cancelSubscription: 'once',
      suspend: 'once',
      liftSuspension: 'once',
      overridePlan: 'once',
      endPlanOverride: 'once',
      delete: 'once',
    },
    flags: { list: 'repeatable', upsert: 'once', delete: 'once', setOverride: 'once' },
    system: { status: 'repeatable', stuck: 'repeatable', outages: 'repeatable', endOutage: 'once' },
    auditLog: 'repeatable',
    mails: { list: 'repeatable' },
  },
};
