import { expect } from 'chai';
import type { WorkflowInputs } from '../../contract/intents/inputs.ts';
import * as workflows from '../../workflows/index.ts';

/** The compiler refuses this line if an intent names no workflow, or one that takes another input. */
const startable: { [Name in keyof WorkflowInputs]: (input: WorkflowInputs[Name]) => Promise<unknown> } = workflows;

describe('intents', () => {
  it('name workflows that are there', () => {
    expect(startable.runJob).to.be.a('function');
    expect(startable.deleteOrganization).to.be.a('function');
  });
});
