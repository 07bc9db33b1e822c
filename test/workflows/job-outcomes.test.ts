import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import { expect } from 'chai';
import { heldElsewhere, unknownPayloadKey } from '../../workflows/definitions.ts';
import { describeFailure } from '../../workflows/job-outcomes.ts';

describe('The last failure of an attempt that never claimed its job', () => {
  const givenUp = (type: string) => {
    const cause = ApplicationFailure.retryable('The key "k2" is not in TEMPORAL_PAYLOAD_KEYS.', type);
    return new ActivityFailure('failed', 'runJobAttempt', '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, 'a worker', cause);
  };

  for (const type of [unknownPayloadKey, heldElsewhere])
    it(`says nothing to the tenant (${type}): if an attempt of the run holds the job, it was lost`, () => {
      expect(describeFailure(givenUp(type))).to.deep.equal({
        code: 'worker_lost',
        message: 'The worker was lost during the attempt.',
        retryable: true,
      });
    });

  it('is the reason otherwise', () => {
    expect(describeFailure(givenUp('store_unavailable'))).to.include({ code: 'store_unavailable', retryable: true });
  });
});
