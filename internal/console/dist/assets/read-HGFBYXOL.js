import{c as a,d as b}from"/console/assets/chunk-JTMVNANV.js";import"/console/assets/chunk-UT263HCP.js";import"/console/assets/chunk-D5E2YXTG.js";export{b as read,a as signedBody};
