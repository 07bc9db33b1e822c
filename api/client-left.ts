import { ApiError } from '../contract/api-error.ts';

/** The error of a request whose client has left: nobody reads it, and it is nobody's fault. */
export function clientLeft(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'The client has left.' });
}
