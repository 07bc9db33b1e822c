import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import { expect } from 'chai';
import { heldElsewhere, unknownPayloadKey } from '../../contract/intents/definitions.ts';
import { describeFailure } from '../../workflows/job-outcomes.ts';

describe('The last failure of an attempt that never claimed its job', () => {
  const givenUp = (type: string) => {
    const cause = ApplicationFailure.retryable('The key "k2" is not in TEMPORAL_PAYLOAD_KEYS.', type);
    return new ActivityFailure('failed', 'runJobAttempt', '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, 'a worker', cause);
  };

  it('says nothing to the tenant if its input could not be read: if an attempt of the run holds the job, it was lost', () => {
    expect(describeFailure(givenUp(unknownPayloadKey))).to.deep.equal({
      code: 'worker_lost',
      message: 'The worker was lost during the attempt.',
      retryable: true,
    });
  });

  it('is none if another attempt holds the job: that one goes on', () => {
    expect(describeFailure(givenUp(heldElsewhere))).to.equal(undefined);
  });

  it('is the reason otherwise', () => {
    expect(describeFailure(givenUp('store_unavailable'))).to.include({ code: 'store_unavailable', retryable: true });
  });
});
