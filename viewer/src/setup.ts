// Before any colour is made: colours mean the same here as in the style sheet and in the report, as they are written.

import { ColorManagement } from 'three';

ColorManagement.enabled = false;
