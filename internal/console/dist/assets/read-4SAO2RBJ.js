import{c as a,d as b}from"/console/assets/chunk-WHRDNTQO.js";import"/console/assets/chunk-T7YH3GR5.js";import"/console/assets/chunk-ICGYI3JX.js";export{b as read,a as signedBody};
