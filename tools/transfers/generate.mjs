// Writes testvectors/transfers.json.gz: transactions of every kind that limits
// count, and how much of which asset they move, both by public libraries; and
// transactions whose amounts must not be told. The same in every run.
//
//   npm ci && npm run generate
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { bitcoin } from './bitcoin.mjs';
import { transactions, typedData } from './evm.mjs';
import { solana } from './solana.mjs';
import { tron } from './tron.mjs';

const transfers = [...transactions(), ...typedData(), ...solana(), ...tron(), ...bitcoin()];
writeFileSync(new URL('../../testvectors/transfers.json.gz', import.meta.url), gzipSync(JSON.stringify({ transfers }), { level: 9 }));
console.log(`${transfers.length} transactions`);
