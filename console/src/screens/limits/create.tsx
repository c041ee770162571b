// A new control: an upper bound for what is moved, or for how often something is done.
import { useState } from 'preact/hooks';

import { type Activities } from '../../client/activities';
import { decide } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { report } from '../../ui/outcome';
import { Button, Dialog, Field } from '../../ui/parts';

type Parameters = Activities['create_velocity_control']['parameters'];
type Method = Parameters['aggregation']['method'];

const windows: Record<string, Parameters['aggregation']['window']> = {
  hour: { rolling: { duration: '3600' } },
  day: { rolling: { duration: '86400' } },
  week: { rolling: { duration: '604800' } },
  month: { rolling: { duration: '2592000' } },
  ever: { infinite: {} },
};

const groupings: Record<string, Parameters['aggregation']['groupBy']> = { organization: { organization: {} }, user: { user: {} }, wallet: { wallet: {} } };

export function CreateLimit({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState('');
  const [identifier, setIdentifier] = useState('');
  const [method, setMethod] = useState('SUM');
  const [asset, setAsset] = useState('eip155:1/slip44:60');
  const [decimals, setDecimals] = useState('18');
  const [threshold, setThreshold] = useState('');
  const [span, setSpan] = useState('day');
  const [group, setGroup] = useState('organization');
  const create = useAction(async () => {
    const dataSource: Parameters['dataSource'] = method === 'SUM' ? { chainAssetTransfer: { definition: [{ caip19: asset.trim(), decimals: decimals.trim() }] } } : { activityExecution: {} };
    const aggregation: Parameters['aggregation'] = {
      method: `VELOCITY_CONTROL_AGGREGATION_METHOD_${method}` as Method,
      operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
      threshold: threshold.trim(), window: windows[span], groupBy: groupings[group],
    };
    report(await decide('create_velocity_control', { name, identifier: identifier.trim(), dataSource, aggregation }));
    onCreated();
    onClose();
  });
  const problem = create.problem;
  return (
    <Dialog title={t.limits.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.limits.name} value={name} onInput={setName} problem={problem('name')} required />
        <Field label={t.limits.identifier} value={identifier} onInput={setIdentifier} problem={problem('identifier')} hint={t.limits.identifierHint} required />
        <Field label={t.limits.what} value={method} onInput={setMethod} options={[['SUM', t.limits.amount], ['COUNT', t.limits.activities]]} />
        {method === 'SUM' && (
          <>
            <Field label={t.limits.asset} value={asset} onInput={setAsset} problem={problem('caip19')} hint={t.limits.assetHint} required />
            <Field label={t.limits.decimals} value={decimals} onInput={setDecimals} problem={problem('decimals')} required />
          </>
        )}
        <Field label={t.limits.threshold} value={threshold} onInput={setThreshold} problem={problem('threshold')} required />
        <Field label={t.limits.window} value={span} onInput={setSpan} problem={problem('window')} options={Object.keys(windows).map((w) => [w, t.limits.windows[w]])} />
        <Field label={t.limits.groupBy} value={group} onInput={setGroup} options={Object.keys(groupings).map((g) => [g, t.limits.groups[g]])} />
        <p class="muted small">{t.limits.afterwards}</p>
        <Failure action={create} />
        <div class="row">
          <Button look="primary" submit busy={create.busy}>{t.limits.create}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
