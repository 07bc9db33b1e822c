import { ApiError } from '../contract/api-error.ts';

interface Details {
  message: string;
  retryAfterSeconds: number;
  /** Whether the next caller of the organization would be refused as well. Only if the path of the operation names the organization, or a row of it. */
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
