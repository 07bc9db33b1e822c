import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import type { AttemptSlots } from '../activities/attempt-slots.ts';
import { WaitQueue } from '../concurrency/wait-queue.ts';

/**
 * What the workers of all kinds in a process may take from their queues. A slot is reserved before a poll, but counts only while it is used,
 * so that idle queues take none. Polls under way may bring a few attempts more: those wait for the slots of the attempts.
 */
export class JobSlots {
  private readonly attempts: AttemptSlots;
  private used = 0;
  private readonly queue = new WaitQueue();

  constructor(attempts: AttemptSlots) {
    this.attempts = attempts;
  }

  /** The supplier of one worker. */
  supplier(): CustomSlotSupplier<ActivitySlotInfo> {
    const usedPermits = new Set<SlotPermit>();
    return {
      type: 'custom',
      reserveSlot: async (_context, signal) => {
        while (this.isFull()) await this.untilRoom(signal);
        return {};
      },
      tryReserveSlot: () => (this.isFull() ? null : {}),
      markSlotUsed: ({ permit }) => {
        usedPermits.add(permit);
        this.used++;
      },
      releaseSlot: ({ permit }) => {
        // A permit that was never used was never counted.
        if (!usedPermits.delete(permit)) return;
        this.used--;
        this.queue.resolveAll();
      },
    };
  }

  private isFull(): boolean {
    return this.used >= this.attempts.mostTaken;
  }

  /** Waits until one is released, or more may be taken. */
  private async untilRoom(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      await Promise.race([this.queue.wait(either), this.attempts.untilMore(either)]);
    } finally {
      over.abort();
    }
  }
}
