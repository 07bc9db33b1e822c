import { ApiError } from '../../contract/api-error.ts';

interface Details {
  message: string;
  retryAfterSeconds: number;
  /**
   * Whether the organization's next caller would be refused as well. Set only if the operation's path names the organization, or one of its
   * rows.
   */
  stands?: () => boolean;
}

/** SERVICE_UNAVAILABLE because the caller's organization has all the turns that it may have. The service is well, and serves others. */
export class TurnsTaken extends ApiError<'SERVICE_UNAVAILABLE'> {
  readonly stands: (() => boolean) | undefined;

  constructor({ message, retryAfterSeconds, stands }: Details) {
    super('SERVICE_UNAVAILABLE', { message, retryAfterSeconds });
    this.stands = stands;
  }
}
