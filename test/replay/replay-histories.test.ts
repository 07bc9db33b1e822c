import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundle } from '@temporalio/worker';
import { expect } from 'chai';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import * as workflows from '../../workflows/index.ts';

const files = globSync('test/replay/*.json').sort();

describe('Saved histories', () => {
  let workflowBundle: WorkflowBundle;
  before(async () => {
    workflowBundle = await bundleWorkflows();
  });

  for (const file of files) {
    it(`replays ${basename(file, '.json')}`, async () => {
      const history = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
      await Worker.runReplayHistory({ workflowBundle }, history, basename(file));
    });
  }

  it('are there for every workflow', () => {
    const saved = new Set(
      files.map((file) => JSON.parse(readFileSync(file, 'utf8')).events[0].workflowExecutionStartedEventAttributes.workflowType.name),
    );
    expect([...saved].sort()).to.deep.equal(Object.keys(workflows).sort());
  });
});
