// Every text of the console: one file for each subject, to be translated as a whole.
import { approval } from './approval';
import { common } from './common';
import { decode } from './decode';
import { entry } from './entry';
import { keys } from './keys';
import { operations } from './operations';
import { people } from './people';
import { policies } from './policies';

export const t = { ...common, ...entry, ...approval, ...decode, ...keys, ...people, ...policies, ...operations };
