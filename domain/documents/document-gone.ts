/** The document of a job no longer exists: the job fails finally. */
export class DocumentGone extends Error {
  constructor() {
    super('The document no longer exists.');
    this.name = 'DocumentGone';
  }
}
