/** The version of the service. */
export const version = '0.3.0';
