/** In percent. Upright print is read with more confidence, be it ever so dirty; print that is turned, and what is no print, with less. */
export const poorConfidence = 70;
